-- AlterTable
ALTER TABLE "Instance" ADD COLUMN     "maxResponseTokens" INTEGER;

-- AlterTable
ALTER TABLE "Server" ADD COLUMN     "compactTables" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "cutNotice" TEXT,
ADD COLUMN     "maxFlatTokens" INTEGER NOT NULL DEFAULT 4000,
ADD COLUMN     "maxResponseTokens" INTEGER NOT NULL DEFAULT 8000,
ADD COLUMN     "pinnedTools" JSON;

-- AlterTable
ALTER TABLE "Upstream" ADD COLUMN     "responseTokens" JSON;

-- CreateTable
CREATE TABLE "CachedAnswer" (
    "id" TEXT NOT NULL,
    "serverId" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "about" TEXT NOT NULL,
    "content" BYTEA NOT NULL,
    "usedAt" TIMESTAMP(3) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "CachedAnswer_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "CachedAnswer_serverId_idx" ON "CachedAnswer"("serverId");

-- CreateIndex
CREATE INDEX "CachedAnswer_usedAt_idx" ON "CachedAnswer"("usedAt");

-- AddForeignKey
ALTER TABLE "CachedAnswer" ADD CONSTRAINT "CachedAnswer_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server"("id") ON DELETE CASCADE ON UPDATE CASCADE;

