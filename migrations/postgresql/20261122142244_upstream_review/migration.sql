-- AlterTable
ALTER TABLE "Server" ADD COLUMN     "reviewUpstreamChanges" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "UpstreamApproval" (
    "id" TEXT NOT NULL,
    "upstreamId" TEXT NOT NULL,
    "nameHash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "definition" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "UpstreamApproval_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamApproval_upstreamId_nameHash_key" ON "UpstreamApproval"("upstreamId", "nameHash");

-- AddForeignKey
ALTER TABLE "UpstreamApproval" ADD CONSTRAINT "UpstreamApproval_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream"("id") ON DELETE CASCADE ON UPDATE CASCADE;

