-- AlterTable
ALTER TABLE "ToolSource" ADD COLUMN     "outputSchema" JSON;

