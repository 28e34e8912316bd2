-- AlterTable
ALTER TABLE "ToolSource" ADD COLUMN "sha256" TEXT;
ALTER TABLE "ToolSource" ADD COLUMN "title" TEXT;

-- AlterTable
ALTER TABLE "ToolkitSource" ADD COLUMN "problem" TEXT;
ALTER TABLE "ToolkitSource" ADD COLUMN "title" TEXT;

