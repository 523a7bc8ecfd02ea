import { installMissingFonts } from './fonts'
import { installMissingNodes } from '../support/nodes'
import {
  apacheProgram,
  chromiumProgram,
  findOrInstallProgram,
  goProgram,
  postgresProgram,
  pythonProgram,
  redisProgram,
  straceProgram,
} from '../support/program'

const programs = [
  redisProgram,
  chromiumProgram,
  postgresProgram,
  apacheProgram,
  pythonProgram,
  goProgram,
  straceProgram,
]

// Only here, before the workers start, may anything be installed: parallel workers would race for apt's lock.
function installPrograms(): void {
  const { env: environment } = process
  const surroundings = { environment, isRoot: process.getuid?.() === 0 }
  // The workers inherit what is set here.
  for (const program of programs) environment[program.variable] = findOrInstallProgram(program, surroundings)
  installMissingFonts(surroundings)
  installMissingNodes()
}

module.exports = installPrograms
