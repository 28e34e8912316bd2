-- AlterTable
ALTER TABLE "Server" ADD COLUMN "masking" JSONB;

