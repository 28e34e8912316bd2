-- CreateEnum
CREATE TYPE "LimitScope" AS ENUM ('organization', 'server', 'tool', 'user', 'token');

-- CreateEnum
CREATE TYPE "LimitUnit" AS ENUM ('calls', 'tokens', 'money');

-- CreateEnum
CREATE TYPE "LimitPeriod" AS ENUM ('minute', 'day', 'month');

-- CreateTable
CREATE TABLE "Limit" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "scope" "LimitScope" NOT NULL,
    "targetId" TEXT,
    "unit" "LimitUnit" NOT NULL,
    "period" "LimitPeriod" NOT NULL,
    "amount" BIGINT NOT NULL,
    "createdById" TEXT,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "Limit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "LimitUse" (
    "limitId" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "LimitUse_pkey" PRIMARY KEY ("limitId","target","period")
);

-- CreateIndex
CREATE INDEX "Limit_organizationId_id_idx" ON "Limit"("organizationId", "id");

-- CreateIndex
CREATE INDEX "LimitUse_period_idx" ON "LimitUse"("period");

-- AddForeignKey
ALTER TABLE "Limit" ADD CONSTRAINT "Limit_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "LimitUse" ADD CONSTRAINT "LimitUse_limitId_fkey" FOREIGN KEY ("limitId") REFERENCES "Limit"("id") ON DELETE CASCADE ON UPDATE CASCADE;

