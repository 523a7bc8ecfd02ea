import './start-suite'

module.exports = async function stopSuiteRedis(): Promise<void> {
  await globalThis.redisOfSuite?.stop()
}
