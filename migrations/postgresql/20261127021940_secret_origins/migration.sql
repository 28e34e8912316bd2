-- CreateEnum
CREATE TYPE "OriginsBy" AS ENUM ('pending', 'nobody', 'storer', 'manager');

-- AlterTable
ALTER TABLE "Global" ADD COLUMN     "origins" JSON,
ADD COLUMN     "originsBy" "OriginsBy" NOT NULL DEFAULT 'pending',
ADD COLUMN     "storedBy" TEXT;

-- CreateTable
CREATE TABLE "BoundOrigin" (
    "id" TEXT NOT NULL,
    "serverId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "BoundOrigin_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "BoundOrigin_userId_idx" ON "BoundOrigin"("userId");

-- CreateIndex
CREATE UNIQUE INDEX "BoundOrigin_serverId_key_userId_origin_key" ON "BoundOrigin"("serverId", "key", "userId", "origin");

-- CreateIndex
CREATE INDEX "Global_originsBy_idx" ON "Global"("originsBy");

-- AddForeignKey
ALTER TABLE "BoundOrigin" ADD CONSTRAINT "BoundOrigin_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "BoundOrigin" ADD CONSTRAINT "BoundOrigin_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

