import './start-suite-redis'

module.exports = async function stopSuiteRedis(): Promise<void> {
  await globalThis.redisOfSuite?.stop()
}
