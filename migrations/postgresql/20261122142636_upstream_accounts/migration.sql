-- CreateTable
CREATE TABLE "UpstreamClient" (
    "upstreamId" TEXT NOT NULL,
    "issuer" TEXT,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "UpstreamClient_pkey" PRIMARY KEY ("upstreamId")
);

-- CreateTable
CREATE TABLE "UpstreamAccount" (
    "id" TEXT NOT NULL,
    "upstreamId" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "userId" TEXT,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "connectedAt" TIMESTAMP(3) NOT NULL,
    "brokenAt" TIMESTAMP(3),
    "renewingUntil" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "UpstreamAccount_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "UpstreamClient_keyId_idx" ON "UpstreamClient"("keyId");

-- CreateIndex
CREATE INDEX "UpstreamAccount_userId_id_idx" ON "UpstreamAccount"("userId", "id");

-- CreateIndex
CREATE INDEX "UpstreamAccount_keyId_idx" ON "UpstreamAccount"("keyId");

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamAccount_upstreamId_holder_key" ON "UpstreamAccount"("upstreamId", "holder");

-- AddForeignKey
ALTER TABLE "UpstreamClient" ADD CONSTRAINT "UpstreamClient_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UpstreamAccount" ADD CONSTRAINT "UpstreamAccount_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UpstreamAccount" ADD CONSTRAINT "UpstreamAccount_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

