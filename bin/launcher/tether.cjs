// Preloaded into what the launcher starts: ends it when the launcher is gone without having said so (kill -9).
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
