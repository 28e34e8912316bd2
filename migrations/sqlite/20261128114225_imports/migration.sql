-- CreateTable
CREATE TABLE "Import" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "toolkitId" TEXT NOT NULL,
    "createdById" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'reading',
    "problem" TEXT,
    "sourceUrl" TEXT,
    "sealedUrl" TEXT,
    "urlKeyId" TEXT,
    "sourceName" TEXT,
    "sha256" TEXT,
    "etag" TEXT,
    "lastModified" TEXT,
    "summary" JSONB,
    "settings" JSONB NOT NULL,
    "secrets" TEXT,
    "keyId" TEXT,
    "needs" JSONB NOT NULL,
    "read" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER,
    "toolkitUpdatedAt" DATETIME NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    "appliedAt" DATETIME,
    "report" JSONB,
    CONSTRAINT "Import_toolkitId_fkey" FOREIGN KEY ("toolkitId") REFERENCES "Toolkit" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Import_createdById_fkey" FOREIGN KEY ("createdById") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "ImportItem" (
    "importId" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "operationId" TEXT,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "summary" TEXT,
    "deprecated" BOOLEAN NOT NULL DEFAULT false,
    "reason" TEXT,
    "name" TEXT,
    "tokens" INTEGER,
    "state" TEXT NOT NULL DEFAULT 'new',
    "toolId" TEXT,
    "impact" TEXT,
    "resolve" TEXT,
    "selected" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    "tags" TEXT NOT NULL,
    "rules" TEXT NOT NULL,
    "searchText" TEXT NOT NULL,
    "unsupported" JSONB NOT NULL,
    "globals" JSONB NOT NULL,
    "notes" JSONB NOT NULL,
    "findings" JSONB NOT NULL,
    "pagination" JSONB,
    "edits" JSONB,
    "comparison" JSONB,
    "tool" JSONB,
    "outputSchema" JSONB,

    PRIMARY KEY ("importId", "position"),
    CONSTRAINT "ImportItem_importId_fkey" FOREIGN KEY ("importId") REFERENCES "Import" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "ToolSource" (
    "toolId" TEXT NOT NULL PRIMARY KEY,
    "title" TEXT,
    "key" TEXT NOT NULL,
    "operationId" TEXT,
    "base" JSONB NOT NULL,
    "generator" INTEGER NOT NULL,
    "sha256" TEXT,
    "outputSchema" JSONB,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "ToolSource_toolId_fkey" FOREIGN KEY ("toolId") REFERENCES "Tool" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "ToolkitSource" (
    "toolkitId" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "title" TEXT,
    "url" TEXT,
    "sealedUrl" TEXT,
    "urlKeyId" TEXT,
    "settings" JSONB NOT NULL,
    "sha256" TEXT NOT NULL,
    "etag" TEXT,
    "lastModified" TEXT,
    "checkEvery" TEXT,
    "checkedAt" DATETIME,
    "problem" TEXT,
    "found" JSONB,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "ToolkitSource_toolkitId_fkey" FOREIGN KEY ("toolkitId") REFERENCES "Toolkit" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "Import_toolkitId_id_idx" ON "Import"("toolkitId", "id");

-- CreateIndex
CREATE INDEX "Import_createdById_idx" ON "Import"("createdById");

-- CreateIndex
CREATE INDEX "Import_state_createdAt_idx" ON "Import"("state", "createdAt");

-- CreateIndex
CREATE INDEX "Import_keyId_idx" ON "Import"("keyId");

-- CreateIndex
CREATE INDEX "Import_urlKeyId_idx" ON "Import"("urlKeyId");

-- CreateIndex
CREATE UNIQUE INDEX "ImportItem_importId_key_key" ON "ImportItem"("importId", "key");

-- CreateIndex
CREATE INDEX "ToolkitSource_checkEvery_checkedAt_idx" ON "ToolkitSource"("checkEvery", "checkedAt");

-- CreateIndex
CREATE INDEX "ToolkitSource_urlKeyId_idx" ON "ToolkitSource"("urlKeyId");

