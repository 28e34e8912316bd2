-- AlterTable
ALTER TABLE "Execution" ADD COLUMN "tokensEstimated" BOOLEAN;

-- AlterTable
ALTER TABLE "ToolDay" ADD COLUMN "estimated" INTEGER NOT NULL DEFAULT 0;
