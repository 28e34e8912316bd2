-- AlterTable
ALTER TABLE "Organization" ADD COLUMN "errorRatePercent" INTEGER;

-- AlterTable
ALTER TABLE "Upstream" ADD COLUMN "downSince" DATETIME;

-- CreateTable
CREATE TABLE "Webhook" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "organizationId" TEXT NOT NULL,
    "description" TEXT,
    "address" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "events" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'active',
    "disabledReason" TEXT,
    "failingSince" DATETIME,
    "dueAt" DATETIME,
    "leasedUntil" DATETIME,
    "lease" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "Webhook_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "Event" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "organizationId" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "happenedAt" DATETIME NOT NULL,
    "isDispatched" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "Event_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "Delivery" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "webhookId" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAt" DATETIME,
    "triedAt" DATETIME,
    "lastMs" REAL,
    "lastStatus" INTEGER,
    "lastError" TEXT,
    "lastResponse" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "Delivery_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "Webhook" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Delivery_eventId_fkey" FOREIGN KEY ("eventId") REFERENCES "Event" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "EventMail" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "membershipId" TEXT NOT NULL,
    "events" TEXT NOT NULL,
    "dueAt" DATETIME,
    "sentAt" DATETIME,
    "leasedUntil" DATETIME,
    "lease" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "EventMail_membershipId_fkey" FOREIGN KEY ("membershipId") REFERENCES "Membership" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "MailedEvent" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "mailId" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL,
    CONSTRAINT "MailedEvent_mailId_fkey" FOREIGN KEY ("mailId") REFERENCES "EventMail" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "MailedEvent_eventId_fkey" FOREIGN KEY ("eventId") REFERENCES "Event" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "Webhook_organizationId_id_idx" ON "Webhook"("organizationId", "id");

-- CreateIndex
CREATE INDEX "Webhook_dueAt_idx" ON "Webhook"("dueAt");

-- CreateIndex
CREATE INDEX "Webhook_keyId_idx" ON "Webhook"("keyId");

-- CreateIndex
CREATE INDEX "Event_isDispatched_id_idx" ON "Event"("isDispatched", "id");

-- CreateIndex
CREATE INDEX "Event_organizationId_idx" ON "Event"("organizationId");

-- CreateIndex
CREATE INDEX "Event_createdAt_idx" ON "Event"("createdAt");

-- CreateIndex
CREATE INDEX "Delivery_webhookId_state_nextAt_idx" ON "Delivery"("webhookId", "state", "nextAt");

-- CreateIndex
CREATE INDEX "Delivery_webhookId_id_idx" ON "Delivery"("webhookId", "id");

-- CreateIndex
CREATE INDEX "Delivery_eventId_idx" ON "Delivery"("eventId");

-- CreateIndex
CREATE UNIQUE INDEX "Delivery_webhookId_eventId_key" ON "Delivery"("webhookId", "eventId");

-- CreateIndex
CREATE UNIQUE INDEX "EventMail_membershipId_key" ON "EventMail"("membershipId");

-- CreateIndex
CREATE INDEX "EventMail_dueAt_idx" ON "EventMail"("dueAt");

-- CreateIndex
CREATE INDEX "MailedEvent_eventId_idx" ON "MailedEvent"("eventId");

-- CreateIndex
CREATE UNIQUE INDEX "MailedEvent_mailId_eventId_key" ON "MailedEvent"("mailId", "eventId");

