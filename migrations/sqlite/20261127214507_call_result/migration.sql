-- AlterTable
ALTER TABLE "Execution" ADD COLUMN "result" TEXT;
