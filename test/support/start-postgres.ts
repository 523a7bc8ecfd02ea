import { type PostgresServer, startPostgres } from './postgres-server'
import { findOrInstallProgram, postgresProgram } from './program'
import { makeRsaKeys } from './rsa-keys'

declare global {
  var postgresOfRun: PostgresServer | undefined
}

/** Starts the PostgreSQL of the project, where each test file has tables of its own. */
async function startPostgresOfRun(): Promise<void> {
  const { env: environment } = process
  // The workers inherit what is set here.
  environment[postgresProgram.variable] = findOrInstallProgram(postgresProgram, {
    environment,
    isRoot: process.getuid?.() === 0,
  })
  const server = await startPostgres()
  globalThis.postgresOfRun = server
  environment['POSTGRES_URL'] = server.url
  environment['RSA_KEYS'] = await makeRsaKeys()
}

module.exports = startPostgresOfRun
