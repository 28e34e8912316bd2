-- AlterTable
ALTER TABLE "OAuthClient" ADD COLUMN     "metadataHash" TEXT,
ADD COLUMN     "registeredFrom" TEXT;

-- CreateIndex
CREATE INDEX "OAuthClient_registeredFrom_createdAt_idx" ON "OAuthClient"("registeredFrom", "createdAt");

