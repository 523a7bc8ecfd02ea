import './start-postgres'

module.exports = async function stopPostgresOfRun(): Promise<void> {
  await globalThis.postgresOfRun?.stop()
}
