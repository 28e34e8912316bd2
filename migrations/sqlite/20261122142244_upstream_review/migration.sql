-- CreateTable
CREATE TABLE "UpstreamApproval" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "upstreamId" TEXT NOT NULL,
    "nameHash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "definition" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "UpstreamApproval_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream" ("id") ON DELETE CASCADE ON UPDATE CASCADE
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
    "removedAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "Server_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Server_ownerId_fkey" FOREIGN KEY ("ownerId") REFERENCES "User" ("id") ON DELETE NO ACTION ON UPDATE CASCADE
);
INSERT INTO "new_Server" ("access", "createdAt", "description", "id", "name", "organizationId", "ownerId", "presentation", "removedAt", "updatedAt") SELECT "access", "createdAt", "description", "id", "name", "organizationId", "ownerId", "presentation", "removedAt", "updatedAt" FROM "Server";
DROP TABLE "Server";
ALTER TABLE "new_Server" RENAME TO "Server";
CREATE INDEX "Server_organizationId_id_idx" ON "Server"("organizationId", "id");
CREATE INDEX "Server_ownerId_idx" ON "Server"("ownerId");
CREATE INDEX "Server_access_id_idx" ON "Server"("access", "id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamApproval_upstreamId_nameHash_key" ON "UpstreamApproval"("upstreamId", "nameHash");

