-- CreateEnum
CREATE TYPE "ImportKind" AS ENUM ('openapi', 'postman', 'curl', 'har');

-- CreateEnum
CREATE TYPE "ImportState" AS ENUM ('reading', 'ready', 'applied', 'failed');

-- CreateEnum
CREATE TYPE "ImportItemState" AS ENUM ('new', 'same', 'changed', 'conflict', 'gone');

-- CreateEnum
CREATE TYPE "ImportImpact" AS ENUM ('breaking', 'other', 'wording');

-- CreateEnum
CREATE TYPE "Resolution" AS ENUM ('mine', 'theirs');

-- CreateEnum
CREATE TYPE "CheckInterval" AS ENUM ('day', 'week');

-- CreateTable
CREATE TABLE "Import" (
    "id" TEXT NOT NULL,
    "toolkitId" TEXT NOT NULL,
    "createdById" TEXT NOT NULL,
    "kind" "ImportKind" NOT NULL,
    "state" "ImportState" NOT NULL DEFAULT 'reading',
    "problem" TEXT,
    "sourceUrl" TEXT,
    "sealedUrl" TEXT,
    "urlKeyId" TEXT,
    "sourceName" TEXT,
    "sha256" TEXT,
    "etag" TEXT,
    "lastModified" TEXT,
    "summary" JSON,
    "settings" JSON NOT NULL,
    "secrets" TEXT,
    "keyId" TEXT,
    "needs" JSON NOT NULL,
    "read" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER,
    "toolkitUpdatedAt" TIMESTAMP(3) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "appliedAt" TIMESTAMP(3),
    "report" JSON,

    CONSTRAINT "Import_pkey" PRIMARY KEY ("id")
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
    "state" "ImportItemState" NOT NULL DEFAULT 'new',
    "toolId" TEXT,
    "impact" "ImportImpact",
    "resolve" "Resolution",
    "selected" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "tags" TEXT NOT NULL,
    "rules" TEXT NOT NULL,
    "searchText" TEXT NOT NULL,
    "unsupported" JSON NOT NULL,
    "globals" JSON NOT NULL,
    "notes" JSON NOT NULL,
    "findings" JSON NOT NULL,
    "pagination" JSON,
    "edits" JSON,
    "comparison" JSON,
    "tool" JSON,
    "outputSchema" JSON,

    CONSTRAINT "ImportItem_pkey" PRIMARY KEY ("importId","position")
);

-- CreateTable
CREATE TABLE "ToolSource" (
    "toolId" TEXT NOT NULL,
    "title" TEXT,
    "key" TEXT NOT NULL,
    "operationId" TEXT,
    "base" JSON NOT NULL,
    "generator" INTEGER NOT NULL,
    "sha256" TEXT,
    "outputSchema" JSON,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "ToolSource_pkey" PRIMARY KEY ("toolId")
);

-- CreateTable
CREATE TABLE "ToolkitSource" (
    "toolkitId" TEXT NOT NULL,
    "kind" "ImportKind" NOT NULL,
    "title" TEXT,
    "url" TEXT,
    "sealedUrl" TEXT,
    "urlKeyId" TEXT,
    "settings" JSON NOT NULL,
    "sha256" TEXT NOT NULL,
    "etag" TEXT,
    "lastModified" TEXT,
    "checkEvery" "CheckInterval",
    "checkedAt" TIMESTAMP(3),
    "problem" TEXT,
    "found" JSON,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "ToolkitSource_pkey" PRIMARY KEY ("toolkitId")
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

-- AddForeignKey
ALTER TABLE "Import" ADD CONSTRAINT "Import_toolkitId_fkey" FOREIGN KEY ("toolkitId") REFERENCES "Toolkit"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Import" ADD CONSTRAINT "Import_createdById_fkey" FOREIGN KEY ("createdById") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ImportItem" ADD CONSTRAINT "ImportItem_importId_fkey" FOREIGN KEY ("importId") REFERENCES "Import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ToolSource" ADD CONSTRAINT "ToolSource_toolId_fkey" FOREIGN KEY ("toolId") REFERENCES "Tool"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ToolkitSource" ADD CONSTRAINT "ToolkitSource_toolkitId_fkey" FOREIGN KEY ("toolkitId") REFERENCES "Toolkit"("id") ON DELETE CASCADE ON UPDATE CASCADE;

