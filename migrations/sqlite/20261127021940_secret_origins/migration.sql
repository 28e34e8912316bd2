-- CreateTable
CREATE TABLE "BoundOrigin" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "serverId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "BoundOrigin_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "BoundOrigin_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_Global" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "serverId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "isSecret" BOOLEAN NOT NULL,
    "value" TEXT NOT NULL,
    "keyId" TEXT,
    "origins" JSONB,
    "originsBy" TEXT NOT NULL DEFAULT 'pending',
    "storedBy" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "Global_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_Global" ("createdAt", "id", "isSecret", "key", "keyId", "serverId", "updatedAt", "value") SELECT "createdAt", "id", "isSecret", "key", "keyId", "serverId", "updatedAt", "value" FROM "Global";
DROP TABLE "Global";
ALTER TABLE "new_Global" RENAME TO "Global";
CREATE INDEX "Global_keyId_idx" ON "Global"("keyId");
CREATE INDEX "Global_originsBy_idx" ON "Global"("originsBy");
CREATE UNIQUE INDEX "Global_serverId_key_key" ON "Global"("serverId", "key");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "BoundOrigin_userId_idx" ON "BoundOrigin"("userId");

-- CreateIndex
CREATE UNIQUE INDEX "BoundOrigin_serverId_key_userId_origin_key" ON "BoundOrigin"("serverId", "key", "userId", "origin");

