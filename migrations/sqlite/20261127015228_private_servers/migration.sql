-- AlterTable
ALTER TABLE "Server" ADD COLUMN "tierNoticeAt" DATETIME;

-- CreateTable
CREATE TABLE "AccessRequest" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "serverId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "AccessRequest_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "AccessRequest_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "AccessRequest_userId_idx" ON "AccessRequest"("userId");

-- CreateIndex
CREATE UNIQUE INDEX "AccessRequest_serverId_userId_key" ON "AccessRequest"("serverId", "userId");

-- Until now, all members could read a private server and try its tools. Its owner is asked whether it should stay private.
UPDATE "Server" SET "tierNoticeAt" = CURRENT_TIMESTAMP WHERE "access" = 'private' AND "removedAt" IS NULL;
