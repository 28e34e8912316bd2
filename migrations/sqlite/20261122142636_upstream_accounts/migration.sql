-- CreateTable
CREATE TABLE "UpstreamClient" (
    "upstreamId" TEXT NOT NULL PRIMARY KEY,
    "issuer" TEXT,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "UpstreamClient_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "UpstreamAccount" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "upstreamId" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "userId" TEXT,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "connectedAt" DATETIME NOT NULL,
    "brokenAt" DATETIME,
    "renewingUntil" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "UpstreamAccount_upstreamId_fkey" FOREIGN KEY ("upstreamId") REFERENCES "Upstream" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "UpstreamAccount_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "UpstreamClient_keyId_idx" ON "UpstreamClient"("keyId");

-- CreateIndex
CREATE INDEX "UpstreamAccount_userId_id_idx" ON "UpstreamAccount"("userId", "id");

-- CreateIndex
CREATE INDEX "UpstreamAccount_keyId_idx" ON "UpstreamAccount"("keyId");

-- CreateIndex
CREATE UNIQUE INDEX "UpstreamAccount_upstreamId_holder_key" ON "UpstreamAccount"("upstreamId", "holder");

