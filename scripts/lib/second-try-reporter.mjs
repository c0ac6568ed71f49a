/** Names each test that passed at a second try only, which vitest's own reporter keeps to itself. */
export default class SecondTryReporter {
  onTestCaseResult(test) {
    if (test.result().state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0)
      console.log(`at a second try: ${test.module.moduleId} > ${test.fullName}`);
  }
}
