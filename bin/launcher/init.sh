# Runs the command given as arguments as the first process (PID 1) of a container. Node cannot wait for processes that it
# did not start, so orphans of upstream commands would stay as zombies and fill the process table. A shell reaps them.

# The traps come first: a signal without one would be lost, because the kernel ignores it for PID 1.
child=
stop=
end() {
  stop=$1
  if [ -n "$child" ]; then kill "-$1" "$child"; fi
}
trap 'end TERM' TERM
# A terminal sends these two to the command itself. A second SIGINT would mean "stop at once".
if [ -t 0 ]; then
  trap : INT HUP
else
  trap 'end INT' INT
  trap 'end HUP' HUP
fi

"$@" <&0 &
child=$!
if [ -n "$stop" ]; then kill "-$stop" "$child"; fi

# A signal interrupts wait, so it is repeated until the command has ended.
while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
exit "$code"
