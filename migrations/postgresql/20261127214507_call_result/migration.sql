-- CreateEnum
CREATE TYPE "CallResult" AS ENUM ('success', 'rejected', 'failed', 'timeout', 'blocked', 'invalid_arguments');

-- AlterTable
ALTER TABLE "Execution" ADD COLUMN     "result" "CallResult";
