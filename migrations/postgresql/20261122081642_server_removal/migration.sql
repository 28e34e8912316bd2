-- AlterTable
ALTER TABLE "Server" ADD COLUMN     "removedAt" TIMESTAMP(3);

