-- AlterTable
ALTER TABLE "Execution" ADD COLUMN "arguments" TEXT;
