-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_ImportItem" (
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
INSERT INTO "new_ImportItem" ("deprecated", "edits", "findings", "globals", "importId", "key", "method", "name", "notes", "operationId", "outputSchema", "pagination", "path", "position", "reason", "resolve", "rules", "searchText", "selected", "state", "summary", "tags", "tokens", "tool", "toolId", "unsupported") SELECT "deprecated", "edits", "findings", "globals", "importId", "key", "method", "name", "notes", "operationId", "outputSchema", "pagination", "path", "position", "reason", "resolve", "rules", "searchText", "selected", "state", "summary", "tags", "tokens", "tool", "toolId", "unsupported" FROM "ImportItem";
DROP TABLE "ImportItem";
ALTER TABLE "new_ImportItem" RENAME TO "ImportItem";
CREATE UNIQUE INDEX "ImportItem_importId_key_key" ON "ImportItem"("importId", "key");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

