import { findOrInstallProgram, redisProgram } from './program'
import { makeRsaKeys } from './rsa-keys'
import { startRedis, type RedisServer } from './redis-server'

declare global {
  var redisOfSuite: RedisServer | undefined
}

/**
 * Starts the Redis of `npm test`, which all test files share: each test has keys of its own. Makes RSA keys for them, too.
 * Only here may anything be installed, for parallel workers would race for apt's lock.
 */
async function startSuiteRedis(): Promise<void> {
  const { env: environment } = process
  // The workers inherit what is set here.
  environment[redisProgram.variable] = findOrInstallProgram(redisProgram, {
    environment,
    isRoot: process.getuid?.() === 0,
  })
  const server = await startRedis()
  environment['REDIS_URL'] = server.url
  environment['RSA_KEYS'] = await makeRsaKeys()
  globalThis.redisOfSuite = server
}

module.exports = startSuiteRedis
