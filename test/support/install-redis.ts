import { findOrInstallProgram, redisProgram } from './program'

// Only here, before the workers start, may anything be installed: parallel workers would race for apt's lock.
function installRedis(): void {
  const { env: environment } = process
  // The workers inherit what is set here.
  environment[redisProgram.variable] = findOrInstallProgram(redisProgram, {
    environment,
    isRoot: process.getuid?.() === 0,
  })
}

module.exports = installRedis
