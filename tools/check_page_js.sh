#!/usr/bin/env bash
# Checks the types of the page's JavaScript, which it says in JSDoc. Needs `tsc` of TypeScript 5 or newer: on the PATH, or named by TSC.
set -euo pipefail
cd "$(dirname "$0")/../src/sqlassay/report/templates"
exec "${TSC:-tsc}" --noEmit --allowJs --checkJs --strict --noUnusedLocals --noImplicitReturns \
  --target es2022 --lib es2022,dom,dom.iterable base.js marks.js results.js cases.js case.js page.js
