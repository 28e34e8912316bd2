-- AlterTable
ALTER TABLE "Server" ADD COLUMN "removedAt" DATETIME;

