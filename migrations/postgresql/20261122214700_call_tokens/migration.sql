-- AlterTable
ALTER TABLE "Execution" ADD COLUMN     "tokensBefore" INTEGER,
ADD COLUMN     "tokensSent" INTEGER;

-- CreateTable
CREATE TABLE "ToolDay" (
    "id" TEXT NOT NULL,
    "serverId" TEXT NOT NULL,
    "day" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "calls" INTEGER NOT NULL DEFAULT 0,
    "counted" INTEGER NOT NULL DEFAULT 0,
    "tokensSent" BIGINT NOT NULL DEFAULT 0,
    "tokensBefore" BIGINT NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ToolDay_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ToolDay_day_idx" ON "ToolDay"("day");

-- CreateIndex
CREATE UNIQUE INDEX "ToolDay_serverId_day_tool_key" ON "ToolDay"("serverId", "day", "tool");

-- AddForeignKey
ALTER TABLE "ToolDay" ADD CONSTRAINT "ToolDay_serverId_fkey" FOREIGN KEY ("serverId") REFERENCES "Server"("id") ON DELETE CASCADE ON UPDATE CASCADE;

