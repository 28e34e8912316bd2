-- AlterTable
ALTER TABLE "Server" ADD COLUMN "cutResultTools" TEXT NOT NULL DEFAULT 'auto';

-- AlterTable
ALTER TABLE "ToolDay" ADD COLUMN "succeeded" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "ToolDay" ADD COLUMN "largest" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "ToolDay" ADD COLUMN "wasCut" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "ToolSend" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "toolId" TEXT NOT NULL,
    "day" TEXT NOT NULL,
    "succeeded" INTEGER NOT NULL DEFAULT 0,
    "largest" INTEGER NOT NULL DEFAULT 0,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "ToolSend_toolId_fkey" FOREIGN KEY ("toolId") REFERENCES "Tool" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "ToolSend_day_idx" ON "ToolSend"("day");

-- CreateIndex
CREATE UNIQUE INDEX "ToolSend_toolId_day_key" ON "ToolSend"("toolId", "day");
