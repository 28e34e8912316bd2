-- AlterTable
ALTER TABLE "OAuthClient" ADD COLUMN "metadataHash" TEXT;
ALTER TABLE "OAuthClient" ADD COLUMN "registeredFrom" TEXT;

-- CreateIndex
CREATE INDEX "OAuthClient_registeredFrom_createdAt_idx" ON "OAuthClient"("registeredFrom", "createdAt");

