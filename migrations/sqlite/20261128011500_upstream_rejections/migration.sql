-- CreateTable
CREATE TABLE "UpstreamRejection" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "upstreamId" TEXT NOT NULL,
    "nameHash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "UpstreamRejection_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamRejection_upstreamId_nameHash_key" ON "UpstreamRejection"("upstreamId", "nameHash");

