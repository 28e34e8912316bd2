-- CreateEnum
CREATE TYPE "ImportImpact" AS ENUM ('breaking', 'other', 'wording');

-- AlterTable
ALTER TABLE "ImportItem" DROP COLUMN "breaking",
DROP COLUMN "conflicts",
ADD COLUMN     "comparison" JSON,
ADD COLUMN     "impact" "ImportImpact";

