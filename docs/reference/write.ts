import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './pages'

// Writes the pages that the code decides: npm run reference

for (const { path, page } of pages) writeFileSync(join(__dirname, '../..', path), page())
