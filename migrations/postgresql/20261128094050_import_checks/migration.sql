-- AlterTable
ALTER TABLE "ToolSource" ADD COLUMN     "title" TEXT;

-- AlterTable
ALTER TABLE "ToolkitSource" ADD COLUMN     "problem" TEXT,
ADD COLUMN     "title" TEXT;

