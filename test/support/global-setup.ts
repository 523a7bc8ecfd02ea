import { findOrInstallNode22 } from './node-22'
import { chromiumProgram, findOrInstallProgram, findProgram, postgresProgram, redisProgram } from './program'

// Only here, before the workers start, may anything be installed: parallel workers would race for apt's lock.
function globalSetup(): void {
  const environment = process.env
  const surroundings = { environment, isRoot: process.getuid?.() === 0 }
  const redis = environment['REDIS_URL']
    ? findProgram(redisProgram, environment)
    : findOrInstallProgram(redisProgram, surroundings)
  // The workers inherit what is set here.
  if (redis !== undefined) environment[redisProgram.variable] = redis
  for (const program of [chromiumProgram, postgresProgram])
    environment[program.variable] = findOrInstallProgram(program, surroundings)
  findOrInstallNode22(environment)
}

module.exports = globalSetup
