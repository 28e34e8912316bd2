-- AlterTable
ALTER TABLE "Server" ADD COLUMN "allowAnyOrigin" BOOLEAN NOT NULL DEFAULT false;
