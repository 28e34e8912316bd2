-- CreateEnum
CREATE TYPE "SummedBy" AS ENUM ('result', 'tool', 'caller', 'client');

-- AlterTable
ALTER TABLE "Execution" ADD COLUMN     "attempts" TEXT,
ADD COLUMN     "organizationId" TEXT,
ADD COLUMN     "requestId" TEXT,
ADD COLUMN     "timing" TEXT,
ADD COLUMN     "tokenId" TEXT;

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "keepCalls" INTEGER,
ADD COLUMN     "keepCallsDays" INTEGER;

-- AlterTable
ALTER TABLE "Server" ADD COLUMN     "hasMovedCalls" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "storesBodies" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "CallBodies" (
    "executionId" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "CallBodies_pkey" PRIMARY KEY ("executionId")
);

-- CreateTable
CREATE TABLE "CallSum" (
    "serverId" TEXT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "startsAt" TIMESTAMP(3) NOT NULL,
    "by" "SummedBy" NOT NULL,
    "value" TEXT NOT NULL,
    "calls" INTEGER NOT NULL DEFAULT 0,
    "rejected" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "counted" INTEGER NOT NULL DEFAULT 0,
    "tokensSent" BIGINT NOT NULL DEFAULT 0,
    "tokensBefore" BIGINT NOT NULL DEFAULT 0,
    "d00" INTEGER NOT NULL DEFAULT 0,
    "d01" INTEGER NOT NULL DEFAULT 0,
    "d02" INTEGER NOT NULL DEFAULT 0,
    "d03" INTEGER NOT NULL DEFAULT 0,
    "d04" INTEGER NOT NULL DEFAULT 0,
    "d05" INTEGER NOT NULL DEFAULT 0,
    "d06" INTEGER NOT NULL DEFAULT 0,
    "d07" INTEGER NOT NULL DEFAULT 0,
    "d08" INTEGER NOT NULL DEFAULT 0,
    "d09" INTEGER NOT NULL DEFAULT 0,
    "d10" INTEGER NOT NULL DEFAULT 0,
    "d11" INTEGER NOT NULL DEFAULT 0,
    "d12" INTEGER NOT NULL DEFAULT 0,
    "d13" INTEGER NOT NULL DEFAULT 0,
    "d14" INTEGER NOT NULL DEFAULT 0,
    "d15" INTEGER NOT NULL DEFAULT 0,
    "d16" INTEGER NOT NULL DEFAULT 0,
    "d17" INTEGER NOT NULL DEFAULT 0,
    "d18" INTEGER NOT NULL DEFAULT 0,
    "d19" INTEGER NOT NULL DEFAULT 0,
    "d20" INTEGER NOT NULL DEFAULT 0,
    "d21" INTEGER NOT NULL DEFAULT 0,
    "d22" INTEGER NOT NULL DEFAULT 0,
    "d23" INTEGER NOT NULL DEFAULT 0,
    "d24" INTEGER NOT NULL DEFAULT 0,
    "d25" INTEGER NOT NULL DEFAULT 0,
    "d26" INTEGER NOT NULL DEFAULT 0,
    "d27" INTEGER NOT NULL DEFAULT 0,
    "d28" INTEGER NOT NULL DEFAULT 0,
    "d29" INTEGER NOT NULL DEFAULT 0,
    "d30" INTEGER NOT NULL DEFAULT 0,
    "d31" INTEGER NOT NULL DEFAULT 0,
    "d32" INTEGER NOT NULL DEFAULT 0,
    "d33" INTEGER NOT NULL DEFAULT 0,
    "d34" INTEGER NOT NULL DEFAULT 0,
    "d35" INTEGER NOT NULL DEFAULT 0,
    "d36" INTEGER NOT NULL DEFAULT 0,
    "d37" INTEGER NOT NULL DEFAULT 0,
    "d38" INTEGER NOT NULL DEFAULT 0,
    "d39" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "CallSum_pkey" PRIMARY KEY ("serverId","seconds","by","startsAt","value")
);

-- CreateIndex
CREATE INDEX "CallBodies_keyId_idx" ON "CallBodies"("keyId");

-- CreateIndex
CREATE INDEX "CallSum_serverId_by_value_seconds_startsAt_idx" ON "CallSum"("serverId", "by", "value", "seconds", "startsAt");

-- CreateIndex
CREATE INDEX "Execution_organizationId_startedAt_id_idx" ON "Execution"("organizationId", "startedAt", "id");

-- AddForeignKey
ALTER TABLE "CallBodies" ADD CONSTRAINT "CallBodies_executionId_fkey" FOREIGN KEY ("executionId") REFERENCES "Execution"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CallSum" ADD CONSTRAINT "CallSum_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server"("id") ON DELETE CASCADE ON UPDATE CASCADE;

