-- CreateTable
CREATE TABLE "UpstreamCatalogue" (
    "upstreamId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "fetchedAt" TIMESTAMP(3) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "UpstreamCatalogue_pkey" PRIMARY KEY ("upstreamId")
);

-- AddForeignKey
ALTER TABLE "UpstreamCatalogue" ADD CONSTRAINT "UpstreamCatalogue_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream"("id") ON DELETE CASCADE ON UPDATE CASCADE;

