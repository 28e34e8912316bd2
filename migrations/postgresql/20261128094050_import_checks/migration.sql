-- AlterTable
ALTER TABLE "ToolSource" ADD COLUMN     "sha256" TEXT,
ADD COLUMN     "title" TEXT;

-- AlterTable
ALTER TABLE "ToolkitSource" ADD COLUMN     "problem" TEXT,
ADD COLUMN     "title" TEXT;

