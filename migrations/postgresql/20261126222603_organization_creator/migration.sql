-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "creatorId" TEXT;

-- CreateIndex
CREATE INDEX "Organization_creatorId_idx" ON "Organization"("creatorId");


-- The creators of existing organizations are not recorded. The oldest owner is the closest to it.
UPDATE "Organization" SET "creatorId" = (
  SELECT "userId" FROM "Membership"
  WHERE "Membership"."organizationId" = "Organization"."id" AND "Membership"."role" = 'owner'
  ORDER BY "Membership"."createdAt", "Membership"."id" LIMIT 1
);
