-- AlterTable
ALTER TABLE "Organization" ADD COLUMN "suspendedAt" DATETIME;
ALTER TABLE "Organization" ADD COLUMN "suspendedById" TEXT;
ALTER TABLE "Organization" ADD COLUMN "suspendedReason" TEXT;

-- AlterTable
ALTER TABLE "Server" ADD COLUMN "suspendedAt" DATETIME;
ALTER TABLE "Server" ADD COLUMN "suspendedById" TEXT;
ALTER TABLE "Server" ADD COLUMN "suspendedReason" TEXT;

-- AlterTable
ALTER TABLE "User" ADD COLUMN "suspendedAt" DATETIME;
ALTER TABLE "User" ADD COLUMN "suspendedById" TEXT;
ALTER TABLE "User" ADD COLUMN "suspendedReason" TEXT;

-- CreateTable
CREATE TABLE "BlockedOrigin" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "origin" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "createdById" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "BlockedOrigin_origin_key" ON "BlockedOrigin"("origin");

