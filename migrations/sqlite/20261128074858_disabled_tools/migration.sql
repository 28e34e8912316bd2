-- AlterTable
ALTER TABLE "Instance" ADD COLUMN "isEnabled" BOOLEAN NOT NULL DEFAULT true;
