-- AlterTable
ALTER TABLE "Upstream" ADD COLUMN     "toolAnswers" JSON;
