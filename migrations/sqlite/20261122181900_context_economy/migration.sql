-- AlterTable
ALTER TABLE "Instance" ADD COLUMN "maxResponseTokens" INTEGER;

-- AlterTable
ALTER TABLE "Upstream" ADD COLUMN "responseTokens" JSONB;

-- CreateTable
CREATE TABLE "CachedAnswer" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "serverId" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "about" TEXT NOT NULL,
    "content" BLOB NOT NULL,
    "usedAt" DATETIME NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "CachedAnswer_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_Server" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "organizationId" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "access" TEXT NOT NULL DEFAULT 'private',
    "presentation" TEXT NOT NULL DEFAULT 'flat',
    "reviewUpstreamChanges" BOOLEAN NOT NULL DEFAULT false,
    "maxResponseTokens" INTEGER NOT NULL DEFAULT 8000,
    "cutNotice" TEXT,
    "compactTables" BOOLEAN NOT NULL DEFAULT false,
    "pinnedTools" JSONB,
    "maxFlatTokens" INTEGER NOT NULL DEFAULT 4000,
    "removedAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "Server_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Server_ownerId_fkey" FOREIGN KEY ("ownerId") REFERENCES "User" ("id") ON DELETE NO ACTION ON UPDATE CASCADE
);
INSERT INTO "new_Server" ("access", "createdAt", "description", "id", "name", "organizationId", "ownerId", "presentation", "removedAt", "reviewUpstreamChanges", "updatedAt") SELECT "access", "createdAt", "description", "id", "name", "organizationId", "ownerId", "presentation", "removedAt", "reviewUpstreamChanges", "updatedAt" FROM "Server";
DROP TABLE "Server";
ALTER TABLE "new_Server" RENAME TO "Server";
CREATE INDEX "Server_organizationId_id_idx" ON "Server"("organizationId", "id");
CREATE INDEX "Server_ownerId_idx" ON "Server"("ownerId");
CREATE INDEX "Server_access_id_idx" ON "Server"("access", "id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "CachedAnswer_serverId_idx" ON "CachedAnswer"("serverId");

-- CreateIndex
CREATE INDEX "CachedAnswer_usedAt_idx" ON "CachedAnswer"("usedAt");

