-- CreateIndex
CREATE INDEX "Execution_serverId_userId_startedAt_id_idx" ON "Execution"("serverId", "userId", "startedAt", "id");

