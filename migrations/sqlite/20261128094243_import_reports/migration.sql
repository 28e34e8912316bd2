-- AlterTable
ALTER TABLE "Import" ADD COLUMN "report" JSONB;

