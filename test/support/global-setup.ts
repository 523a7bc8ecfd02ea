import { installMissingFonts } from './fonts'
import { findOrInstallNode22 } from './node-22'
import {
  apacheProgram,
  chromiumProgram,
  findOrInstallProgram,
  goProgram,
  nginxProgram,
  postgresProgram,
  pythonProgram,
  redisProgram,
} from './program'

// Only here, before the workers start, may anything be installed: parallel workers would race for apt's lock.
function globalSetup(): void {
  const environment = process.env
  const surroundings = { environment, isRoot: process.getuid?.() === 0 }
  // The workers inherit what is set here.
  const programs = [
    redisProgram,
    chromiumProgram,
    postgresProgram,
    apacheProgram,
    nginxProgram,
    pythonProgram,
    goProgram,
  ]
  for (const program of programs) environment[program.variable] = findOrInstallProgram(program, surroundings)
  installMissingFonts(surroundings)
  findOrInstallNode22(environment)
}

module.exports = globalSetup
