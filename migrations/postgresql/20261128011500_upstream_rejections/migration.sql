-- CreateTable
CREATE TABLE "UpstreamRejection" (
    "id" TEXT NOT NULL,
    "upstreamId" TEXT NOT NULL,
    "nameHash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "UpstreamRejection_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamRejection_upstreamId_nameHash_key" ON "UpstreamRejection"("upstreamId", "nameHash");

-- AddForeignKey
ALTER TABLE "UpstreamRejection" ADD CONSTRAINT "UpstreamRejection_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream"("id") ON DELETE CASCADE ON UPDATE CASCADE;

