-- AlterTable
ALTER TABLE "ToolSource" ADD COLUMN "outputSchema" JSONB;

