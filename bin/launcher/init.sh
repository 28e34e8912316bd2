# Runs the command given as arguments as the first process (PID 1) of a container. Node cannot wait for processes that it
# did not start, so orphans of upstream commands would stay as zombies and fill the process table. A shell reaps them.

"$@" <&0 &
child=$!

trap 'kill -TERM "$child"' TERM
# A terminal sends these two to the command itself. A second SIGINT would mean "stop at once".
if [ -t 0 ]; then
  trap : INT HUP
else
  trap 'kill -INT "$child"' INT
  trap 'kill -HUP "$child"' HUP
fi

# A signal interrupts wait, so it is repeated until the command has ended.
while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
exit "$code"
